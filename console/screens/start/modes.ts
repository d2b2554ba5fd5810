import type { Example } from '../../client/platform.ts'

/** What a first request can ask for. Apply is no first request: it belongs to a session whose plan was reviewed. */
export const MODES = [
  {
    name: 'generate',
    operation: 'generate',
    is_partial: false,
    preview: false,
    title: 'Write the change',
    says: 'Writes code until its plan is good. You review; nothing is applied.',
    fallback: null,
  },
  {
    name: 'drift-partial',
    operation: 'drift',
    is_partial: true,
    preview: false,
    title: 'Mend what I name',
    says: 'Changes the code of what you name until it fits what really runs.',
    fallback: null,
  },
  {
    name: 'drift-full',
    operation: 'drift',
    is_partial: false,
    preview: false,
    title: 'Mend everything',
    says: 'The same for the whole engine root; your words select nothing.',
    fallback: 'Bring everything in line with what really runs.',
  },
  {
    name: 'drift-preview',
    operation: 'drift',
    is_partial: false,
    preview: true,
    title: 'Only look',
    says: 'Reports what differs. Changes nothing.',
    fallback: 'What differs from what really runs?',
  },
  {
    name: 'import-partial',
    operation: 'import',
    is_partial: true,
    preview: false,
    title: 'Take in what I name',
    says: 'Takes what you name and nobody manages into code and state.',
    fallback: null,
  },
  {
    name: 'import-full',
    operation: 'import',
    is_partial: false,
    preview: false,
    title: 'Take in everything',
    says: 'The same for all that the scope holds; your words select nothing.',
    fallback: 'Import all the infrastructure',
  },
  {
    name: 'import-preview',
    operation: 'import',
    is_partial: false,
    preview: true,
    title: 'Only look',
    says: 'Lists what the scope holds, to choose from. Changes nothing.',
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
  /** The request that is sent when nothing was written; null where the words decide what is done. */
  fallback: string | null
}

export type Mode = (typeof MODES)[number]
export type ModeName = Mode['name']

/** The mode of this name. A name of another version of the console is that of a change. */
export const modeOf = (name: string): Mode => MODES.find((mode) => mode.name === name) ?? MODES[0]

export const modeOfExample = ({ mode, is_partial, preview }: Example): Mode =>
  MODES.find(
    (known) => known.operation === mode && known.preview === preview && (preview || known.is_partial === is_partial),
  ) ?? MODES[0]
