import type { Example } from '../../client/platform.ts'

/** The modes of a first request. Apply is not one of them: it needs a session with a reviewed plan. */
export const MODES = [
  {
    name: 'generate',
    operation: 'generate',
    is_partial: false,
    preview: false,
    title: 'Write the change',
    says: 'Writes code until the plan passes all checks. You review it; nothing is applied.',
    fallback: null,
  },
  {
    name: 'drift-partial',
    operation: 'drift',
    is_partial: true,
    preview: false,
    title: 'Remediate what I name',
    says: 'Changes the code of what you name until it matches what really runs.',
    fallback: null,
  },
  {
    name: 'drift-full',
    operation: 'drift',
    is_partial: false,
    preview: false,
    title: 'Remediate everything',
    says: 'The same for the whole engine root, regardless of the text.',
    fallback: 'Bring everything in line with what really runs.',
  },
  {
    name: 'drift-preview',
    operation: 'drift',
    is_partial: false,
    preview: true,
    title: 'Preview',
    says: 'Reports the drift. Changes nothing.',
    fallback: 'What differs from what really runs?',
  },
  {
    name: 'import-partial',
    operation: 'import',
    is_partial: true,
    preview: false,
    title: 'Import what I name',
    says: 'Adopts the unmanaged resources that you name into code and state.',
    fallback: null,
  },
  {
    name: 'import-full',
    operation: 'import',
    is_partial: false,
    preview: false,
    title: 'Import everything',
    says: 'The same for the whole scope, regardless of the text.',
    fallback: 'Import all the infrastructure',
  },
  {
    name: 'import-preview',
    operation: 'import',
    is_partial: false,
    preview: true,
    title: 'Preview',
    says: 'Lists the resources of the scope to select from. Changes nothing.',
    fallback: 'What does nobody manage yet?',
  },
] as const satisfies readonly ModeFacts[]

interface ModeFacts {
  name: string
  operation: Example['mode']
  is_partial: boolean
  preview: boolean
  title: string
  says: string
  /** The request that is sent for an empty text; null where the text is required. */
  fallback: string | null
}

export type Mode = (typeof MODES)[number]
export type ModeName = Mode['name']

/** Returns the mode of this name; generate for a name from another version of the console. */
export const modeOf = (name: string): Mode => MODES.find((mode) => mode.name === name) ?? MODES[0]

export const modeOfExample = ({ mode, is_partial, preview }: Example): Mode =>
  MODES.find(
    (known) => known.operation === mode && known.preview === preview && (preview || known.is_partial === is_partial),
  ) ?? MODES[0]
