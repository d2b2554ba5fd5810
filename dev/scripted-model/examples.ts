/** A recorded request, and the sample repository on which it was recorded. */
export interface Example {
  /** The route below `/api/v1/iac/`. */
  route: 'generate' | 'drift' | 'import'
  is_partial: boolean
  /** True for a preview. */
  preview?: boolean
  request: string
  sample: string
  iac_path: string | null
}

/** The scope that recorded requests name. */
export const SCOPE = '123456789012'

export const bodyOf = ({ route, request, iac_path, is_partial, preview }: Example, repo_uri: string) => ({
  q: request,
  repo_uri,
  scope_id: SCOPE,
  engine_providers: 'aws',
  ...(iac_path !== null && { iac_path }),
  ...(route !== 'generate' && { is_partial }),
  ...(preview && { preview }),
})

/** Finds the clone address of a sample; undefined when the host has no such repository. */
export const uriOfSample = (repositories: readonly string[], sample: string): string | undefined =>
  repositories.find((address) => address.endsWith(`/${sample}.git`))

const on = (sample: string, request: string, iacPath: string | null = null) => ({ sample, request, iac_path: iacPath })
const generate = { route: 'generate', is_partial: false } as const
const drift = { route: 'drift' } as const
const imports = { route: 'import' } as const
const looks = { is_partial: false, preview: true } as const

export const EXAMPLES = {
  generate: {
    ...generate,
    ...on(
      'web-platform',
      'Add a work queue for the orders service, with a dead-letter queue and an alarm when messages wait too long.',
    ),
  },
  apply: {
    ...generate,
    ...on('web-platform', 'Add a work queue for the payments service, with a dead-letter queue and an alarm.'),
  },
  'partial-drift': {
    ...drift,
    ...on('network-baseline', 'Bring the flow logs in line with what really runs.'),
    is_partial: true,
  },
  'full-drift': {
    ...drift,
    ...on('network-baseline', 'Bring everything in line with what really runs.'),
    is_partial: false,
  },
  'partial-import': {
    ...imports,
    ...on('legacy-accounts', 'Import the queues of the invoices service.'),
    is_partial: true,
  },
  'full-import': { ...imports, ...on('legacy-accounts', 'Import all the infrastructure'), is_partial: false },
  'drift-preview': { ...drift, ...on('network-baseline', 'What differs from what really runs?'), ...looks },
  'import-preview': { ...imports, ...on('legacy-accounts', 'What does nobody manage yet?'), ...looks },
  declined: { ...generate, ...on('web-platform', 'Delete the production network and everything in it.') },
  question: { ...generate, ...on('legacy-accounts', 'How many queues are there?') },
  blocked: {
    ...generate,
    ...on('data-platform', 'Remove the clicks dataset from the warehouse, nobody reads it any more.', 'warehouse'),
  },
  exhausted: { ...generate, ...on('web-platform', 'Mirror the orders service into a second region.') },
} as const satisfies Record<string, Example>

export type ExampleName = keyof typeof EXAMPLES

/** Further requests in the first session, in this order. */
export const FOLLOW_UPS = [
  'Also replay the dead letters of the orders service every night.',
  'Also keep dead letters of the orders service for 30 days.',
]

const OFFERS: Record<Example['route'], readonly ExampleName[]> = {
  generate: ['generate', 'blocked'],
  drift: ['partial-drift', 'full-drift'],
  import: ['partial-import', 'full-import'],
}

/** Makes the text that nothing is recorded for a request, with the recorded ones. */
export const notRecorded = (route: Example['route']): string =>
  [
    'This is the scripted model of the embedded stack: it plays recorded requests only, and there is none ' +
      'for this one.',
    ...OFFERS[route].map((name) => `Recorded on samples/${EXAMPLES[name].sample}: "${EXAMPLES[name].request}"`),
    'For requests of your own start the stack with a real model, for example with ANTHROPIC_API_KEY or ' +
      'OPENAI_API_KEY set.',
  ].join(' ')
