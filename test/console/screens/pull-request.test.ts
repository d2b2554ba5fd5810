import { describe, expect, it } from 'vitest'
import type { Session, Status } from '../../../console/client/api/client.ts'
import {
  adviseOnMerge,
  findMergeRefusal,
  listPullRequests,
  pauseBeforeAsking,
  roundsSince,
  safeLink,
} from '../../../console/screens/pull-request/merge-readiness.ts'
import { sampleRound, sampleSession } from '../samples.ts'

const round = (number: number, status: Status, pulls: number[] = [], preview = false) => {
  const toPullRequest = (pull: number) =>
    ({ provider: 'GITHUB', number: pull, url: `https://git.example/pull/${pull}` }) as const
  return sampleRound(number, status, { preview, pull_requests: pulls.map(toPullRequest) })
}

describe('the pause before the git host is asked again', () => {
  it('grows while its answer stays the same, and has no end once all is said', () => {
    const pauses = [0, 3, 4, 8, 12, 100].map((same) => pauseBeforeAsking('blocked', same))
    expect(pauses).toEqual([30_000, 30_000, 60_000, 120_000, 240_000, 240_000])
    expect(pauseBeforeAsking(undefined, 0)).toBe(30_000)
    expect([pauseBeforeAsking('merged', 0), pauseBeforeAsking('closed', 9)]).toEqual([false, false])
  })
})

describe('the pull requests of a session', () => {
  it('lists each once, the newest first, and counts the rounds that came after it', () => {
    const given = sampleSession([
      round(1, 'completed', [4, 5]),
      round(2, 'completed', [4]),
      round(3, 'completed'),
      round(4, 'completed', [], true),
    ])
    const listed = listPullRequests(given)
    expect(listed.map(({ pull_request, round }) => [pull_request.number, round])).toEqual([
      [4, 2],
      [5, 1],
    ])
    expect(listed.map((opened) => roundsSince(given, opened))).toEqual([1, 2])
  })

  it('says why one may not be merged', () => {
    const reason = (given: Session, isOwn = true) => findMergeRefusal(given, isOwn)?.reason ?? null
    const done = [round(1, 'completed')]
    expect(reason(sampleSession(done))).toBeNull()
    expect(reason(sampleSession(done), false)).toMatch(/somebody else/)
    expect(reason(sampleSession(done, { is_blocked: true, in_flight: true }))).toMatch(/locked/)
    expect(reason(sampleSession(done, { in_flight: true }))).toMatch(/is running/)
    expect(reason(sampleSession(done, { current_status: 'failed' }))).toMatch(/failed/)
    expect(reason(sampleSession([round(1, 'uncompleted'), round(2, 'completed', [], true)]))).toMatch(
      /No round has completed/,
    )
  })

  it('advises by what the platform answered', () => {
    expect(adviseOnMerge(404, 'There are no pull requests to merge: Pull Request 1 is merged.')).toMatch(
      /Nothing is left/,
    )
    expect(adviseOnMerge(409, 'Pull Request 1 holds code that was not reviewed: …')).toMatch(/further round/)
    expect(adviseOnMerge(504, 'Complete PR timeout')).toMatch(/may have been merged/)
  })

  it('links to addresses of the web alone', () => {
    expect(safeLink('https://git.example/1')).toBe('https://git.example/1')
    for (const url of ['javascript:alert(1)', 'data:text/html,x', 'ftp://x/', '//git.example', ''])
      expect(safeLink(url)).toBeNull()
  })
})
