import { EXAMPLES, type Example, type ExampleName } from '../scripted-model/examples.ts'

/** The modes of the demo: six jobs, two previews, then four rounds that end without a job. */
const JOBS = ['generate', 'partial-drift', 'full-drift', 'partial-import', 'full-import', 'apply'] as const
const PREVIEWS = ['drift-preview', 'import-preview'] as const
const ENDINGS = ['declined', 'question', 'blocked', 'exhausted'] as const
export type DemoMode = (typeof JOBS)[number] | (typeof PREVIEWS)[number] | (typeof ENDINGS)[number]
export const MODES: readonly DemoMode[] = [...JOBS, ...PREVIEWS, ...ENDINGS]

export const isMode = (text: string): text is DemoMode => MODES.some((mode) => mode === text)
export const isEnding = (mode: DemoMode): boolean => ENDINGS.some((ending) => ending === mode)

export const findExample = (mode: DemoMode): Example => EXAMPLES[mode satisfies ExampleName]

/** One sentence on each mode. */
export const SHOWS: Record<DemoMode, string> = {
  generate: 'a sentence becomes code, a reviewed plan and an open pull request',
  'partial-drift': 'one setting was changed by hand; the code follows, for what the request names',
  'full-drift': 'everything that was changed by hand is found, the code follows',
  'partial-import': 'existing resources that the request names get code and come under management',
  'full-import': 'so does everything in the account',
  apply: 'the reviewed plan is applied, exactly that one',
  'drift-preview': 'what was changed by hand is reported, nothing is touched',
  'import-preview': 'everything in the account is listed: managed, not managed, left out',
  declined: 'a request that the guidelines forbid is declined',
  question: 'a question is answered and changes nothing',
  blocked: 'a plan that destroys data locks the session: apply and merge are refused',
  exhausted: 'code that the engine keeps refusing ends the round',
}
