interface TrustedTypes {
  createPolicy(name: 'default', rules: { createScriptURL(url: string): string }): unknown
}

/**
 * The page may run scripts of its own build and nothing else. Browsers that enforce this ask here before they start a
 * worker; whatever would make a script out of text is refused, because there is no rule for it.
 */
export function trustOwnScripts(types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes): void {
  types?.createPolicy('default', {
    createScriptURL: (given) => {
      const url = new URL(given, location.href)
      if (url.origin === location.origin && url.pathname.startsWith('/console/assets/')) return url.href
      throw new TypeError('This is no script of the console.')
    },
  })
}
