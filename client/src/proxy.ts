/** The editor's proxy, for programs that we start: they know only that of their environment. */

/**
 * @param setting `http.proxy` of the editor
 * @param given the environment of the editor, which counts where it names a proxy
 */
export function proxyEnvironment(
  setting: string | undefined,
  given: Record<string, string | undefined>,
): Record<string, string> {
  const named = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].some((name) => given[name]);
  // What is asked by plain HTTP is mostly on this machine, where no proxy is wanted.
  return setting && !named ? { HTTPS_PROXY: setting } : {};
}
