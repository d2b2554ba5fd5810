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

type Rest = Partial<Pick<Example, 'is_partial' | 'preview' | 'iac_path'>>
const example = (route: Example['route'], sample: string, request: string, rest: Rest = {}): Example => ({
  ...{ route, sample, request, is_partial: false, iac_path: null },
  ...rest,
})
const PART = { is_partial: true }
const LOOK = { preview: true }
const NETWORK = 'network-baseline'
const ACCOUNTS = 'legacy-accounts'
const WEB = 'web-platform'

export const EXAMPLES = {
  generate: example(
    'generate',
    WEB,
    'Add a work queue for the orders service, with a dead-letter queue and an alarm when messages wait too long.',
  ),
  apply: example('generate', WEB, 'Add a work queue for the payments service, with a dead-letter queue and an alarm.'),
  'partial-drift': example('drift', NETWORK, 'Bring the flow logs in line with what really runs.', PART),
  'full-drift': example('drift', NETWORK, 'Bring everything in line with what really runs.'),
  'partial-import': example('import', ACCOUNTS, 'Import the queues of the invoices service.', PART),
  'full-import': example('import', ACCOUNTS, 'Import all the infrastructure'),
  'drift-preview': example('drift', NETWORK, 'What differs from what really runs?', LOOK),
  'import-preview': example('import', ACCOUNTS, 'What does nobody manage yet?', LOOK),
  declined: example('generate', WEB, 'Delete the production network and everything in it.'),
  question: example('generate', ACCOUNTS, 'How many queues are there?'),
  blocked: example(
    'generate',
    'data-platform',
    'Remove the clicks dataset from the warehouse, nobody reads it any more.',
    { iac_path: 'warehouse' },
  ),
  exhausted: example('generate', WEB, 'Mirror the orders service into a second region.'),
} satisfies Record<string, Example>

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
