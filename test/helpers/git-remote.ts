import { HttpResponse, http, type RequestHandler } from 'msw'
import type { Db } from '../../src/data/db/sql.ts'

const COMMIT = '1234567890abcdef1234567890abcdef12345678'
const packet = (line: string) => (line.length + 4).toString(16).padStart(4, '0') + line

/**
 * Plays a repository at a public host that lists its references, which suffices to be reachable.
 * @param pushStatus the answer to the question of a push
 * @param sql a database whose sessions all have their branch there, one commit ahead of `main`
 */
export function listedRepository(
  uri: string,
  { sql, pushStatus }: { sql?: () => Db; pushStatus?: number } = {},
): RequestHandler {
  return http.get(`${uri}/info/refs`, async ({ request }) => {
    if (pushStatus && request.url.endsWith('=git-receive-pack')) return new HttpResponse('no', { status: pushStatus })
    const sessions = sql ? await sql()<{ branch: string }[]>`SELECT branch FROM workspaces` : []
    const advertisement = [
      packet('# service=git-upload-pack\n'),
      '0000',
      packet(`${COMMIT} HEAD\0symref=HEAD:refs/heads/main agent=git/2.50.0\n`),
      packet(`${COMMIT} refs/heads/main\n`),
      ...sessions.map(({ branch }) => packet(`${COMMIT.replace('1', '2')} refs/heads/${branch}\n`)),
      '0000',
    ].join('')
    return new HttpResponse(advertisement, {
      headers: { 'content-type': 'application/x-git-upload-pack-advertisement' },
    })
  })
}
