/** How llama.cpp is compiled for the graphics processor of this machine. */

import * as fs from "node:fs";
import * as path from "node:path";

export interface Graphics {
  /** The option of CMake. */
  option: "GGML_METAL" | "GGML_CUDA" | "GGML_VULKAN";
  /** The program that compiling needs besides a C++ compiler; undefined if there is none. */
  compiler?: string;
}

/** Metal on Apple's systems, CUDA where its compiler is installed, else Vulkan, which most devices support. */
export function graphics(
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): Graphics {
  if (platform === "darwin") return { option: "GGML_METAL" };
  if (isOnPath(["nvcc", "nvcc.exe"], environment)) return { option: "GGML_CUDA", compiler: "nvcc" };
  return { option: "GGML_VULKAN", compiler: "glslc" };
}

/** Whether one of some programs is in a folder of `PATH`. */
export function isOnPath(names: string[], environment: NodeJS.ProcessEnv = process.env): boolean {
  const folders = (environment.PATH ?? "").split(path.delimiter);
  return folders.some((folder) => names.some((name) => fs.existsSync(path.join(folder, name))));
}
