import { HttpResponse, http, type RequestHandler } from 'msw'

const COMMIT = '1234567890abcdef1234567890abcdef12345678'
const packet = (line: string) => (line.length + 4).toString(16).padStart(4, '0') + line

/** Plays a repository at a public host that lists its references, which suffices to be reachable. */
export function listedRepository(uri: string): RequestHandler {
  const advertisement = [
    packet('# service=git-upload-pack\n'),
    '0000',
    packet(`${COMMIT} HEAD\0symref=HEAD:refs/heads/main agent=git/2.50.0\n`),
    packet(`${COMMIT} refs/heads/main\n`),
    '0000',
  ].join('')
  return http.get(
    `${uri}/info/refs`,
    () =>
      new HttpResponse(advertisement, { headers: { 'content-type': 'application/x-git-upload-pack-advertisement' } }),
  )
}
