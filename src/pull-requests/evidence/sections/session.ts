import { code } from '../markdown.ts'
import { blocks, type Section, section } from '../section.ts'
import type { Evidence } from '../types.ts'

/** Where everything is to be found. @param session_url template of the configuration, may be empty */
export function sessionSection({ session }: Evidence, session_url: string): Section {
  return section('Session', blocks(`${reference(session.uuid, session_url)}, branch ${code(session.branch)}.`))
}

/** A link to the session's page, or its id. */
export function reference(uuid: string, session_url: string): string {
  if (session_url === '') return `Session \`${uuid}\``
  const { href } = new URL(session_url.replaceAll('{session_id}', uuid))
  return `[Session ${uuid}](${href.replace(/[()\\*_~[\]`|]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)})`
}

/** What a reviewer must know before everything else, as quoted lines; empty when there is nothing. */
export function notices({ session, rounds, generate }: Evidence): string {
  const last = rounds.at(-1)
  const reviewed = generate?.round ?? 0
  return blocks(
    session.is_blocked && '> **This session is locked: merging and applying are blocked.**',
    session.in_flight && '> A round of this session is running: the branch may still change.',
    !session.in_flight &&
      last?.status === 'failed' &&
      last.number > reviewed &&
      last.mode !== 'apply' &&
      `> Round ${last.number}, the latest, failed. The branch may hold code that no evidence below is about.`,
  )
}
