/** An address without trailing slashes; the usual path is added to one that has none. */
export function baseUrl(configured: string, default_path = ''): string {
  const bare = configured.replace(/\/+$/, '')
  return /^[a-z]+:\/\/[^/]+\/./i.test(bare) ? bare : `${bare}${default_path}`
}

export const sameHost = (a: string, b: string): boolean =>
  URL.canParse(a) && URL.canParse(b) && new URL(a).host === new URL(b).host
