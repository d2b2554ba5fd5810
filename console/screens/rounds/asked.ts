import { useState } from 'preact/hooks'
import type { RoundBody } from '../../client/api/types.ts'
import { createDrafts } from '../../client/drafts.ts'

/** What somebody is about to ask. */
export interface Asked {
  mode: 'generate' | 'drift' | 'import'
  q: string
  preview: boolean
  is_partial: boolean
}

const NOTHING: Asked = { mode: 'generate', q: '', preview: false, is_partial: false }

/** What stands in the composer of a session, kept while it is typed. */
export function useAsked(sessionId: string) {
  const [drafts] = useState(() => createDrafts())
  const name = `ask.${sessionId}`
  const [asked, setAsked] = useState<Asked>(() => ({ ...NOTHING, ...drafts.read<Partial<Asked>>(name) }))
  return {
    asked,
    change: (part: Partial<Asked>) =>
      setAsked((before) => {
        const after = { ...before, ...part }
        drafts.write(name, after)
        return after
      }),
    clear: () => {
      drafts.remove(name)
      setAsked({ ...NOTHING, mode: asked.mode })
    },
  }
}

/** The body of the request. A generate request has neither a preview nor a part. An import preview lists everything. */
export function bodyOf({ mode, q, preview, is_partial }: Asked, sessionId: string): RoundBody {
  const body = { session_id: sessionId, q }
  if (mode === 'generate') return body
  return { ...body, preview, is_partial: is_partial && !(mode === 'import' && preview) }
}
