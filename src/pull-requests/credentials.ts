/** Value of an `Authorization` header (RFC 7617, UTF-8). */
export const basicAuthorization = (user: string, token: string): string =>
  `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${token}`)))}`
