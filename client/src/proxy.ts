/** The editor's proxy setting, for the programs that we start: they only read their environment. */

/**
 * @param setting `http.proxy` of the editor
 * @param given the environment of the editor, which takes precedence if it names a proxy
 */
export function proxyEnvironment(
  setting: string | undefined,
  given: Record<string, string | undefined>,
): Record<string, string> {
  const named = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"].some((name) => given[name]);
  // Plain HTTP mostly goes to this machine, for which a proxy is wrong.
  return setting && !named ? { HTTPS_PROXY: setting } : {};
}
