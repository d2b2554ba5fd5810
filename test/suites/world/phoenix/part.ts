import type { Part } from '../part.ts'
import { installPython } from '../tools/python.ts'

const VERSION = '20.26.1'

/** The prompt registry and collector that deployments bring along. */
export const part: Part = {
  name: 'phoenix',
  about: 'Phoenix as prompt registry and collector: prompts, tags, spans of rounds read back, restarts, a full disk',
  ci: true,
  install: async (tools) => {
    const programs = await installPython(`phoenix-${VERSION}`, [`arize-phoenix==${VERSION}`], tools)
    return { version: `Phoenix ${VERSION}`, env: { PHOENIX: `${programs}/phoenix` } }
  },
}
