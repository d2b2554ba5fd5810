import type { Example } from '../../client/platform.ts'

/**
 * Returns a mode. Its name begins with its operation; what follows is partial, full or preview.
 * @param fallback the request that is sent for an empty text; null where the text is required
 */
function mode<const Name extends string>(name: Name, title: string, says: string, fallback: string | null = null) {
  const [operation, kind] = name.split('-') as [Example['mode'], string?]
  return { name, operation, is_partial: kind === 'partial', preview: kind === 'preview', title, says, fallback }
}

/** The modes of a first request. Apply is not one of them: it needs a session with a reviewed plan. */
export const MODES = [
  mode(
    'generate',
    'Write the change',
    'Writes code until the plan passes all checks. You review it; nothing is applied.',
  ),
  mode(
    'drift-partial',
    'Remediate what I name',
    'Changes the code of what you name until it matches what really runs.',
  ),
  mode(
    'drift-full',
    'Remediate everything',
    'The same for the whole engine root, regardless of the text.',
    'Bring everything in line with what really runs.',
  ),
  mode('drift-preview', 'Preview', 'Reports the drift. Changes nothing.', 'What differs from what really runs?'),
  mode('import-partial', 'Import what I name', 'Adopts the unmanaged resources that you name into code and state.'),
  mode(
    'import-full',
    'Import everything',
    'The same for the whole scope, regardless of the text.',
    'Import all the infrastructure',
  ),
  mode(
    'import-preview',
    'Preview',
    'Lists the resources of the scope to select from. Changes nothing.',
    'What does nobody manage yet?',
  ),
] as const

export type Mode = (typeof MODES)[number]
export type ModeName = Mode['name']

/** Returns the mode of this name; generate for a name from another version of the console. */
export const modeOf = (name: string): Mode => MODES.find((known) => known.name === name) ?? MODES[0]

export const modeOfExample = ({ mode: operation, is_partial, preview }: Example): Mode =>
  MODES.find(
    (known) =>
      known.operation === operation && known.preview === preview && (preview || known.is_partial === is_partial),
  ) ?? MODES[0]
