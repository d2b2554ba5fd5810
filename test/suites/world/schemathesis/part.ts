import type { Part } from '../part.ts'
import { installPython } from '../tools/python.ts'

const VERSION = '4.32.5'

/** Generated requests, valid and not, against core and sidecars, checked by what they say of themselves. */
export const part: Part = {
  name: 'schemathesis',
  about: 'Schemathesis against the core, as every role, and the four sidecars, from their own descriptions',
  ci: true,
  install: async (tools) => {
    const programs = await installPython(`schemathesis-${VERSION}`, [`schemathesis==${VERSION}`], tools)
    return { version: `Schemathesis ${VERSION}`, env: { SCHEMATHESIS: `${programs}/schemathesis` } }
  },
}
