import * as v from 'valibot'
import { createResultTool } from '../agent/result-tool.ts'
import type { Logger } from '../base/log.ts'
import { limitTargets } from '../plan/targets.ts'
import { fence, joinParts, LANGUAGE_RULE, renderLayout } from '../prompts/layout.ts'
import { defineChain } from './shared/chain.ts'
import { explanation } from './shared/result-fields.ts'

/** An address without a leading hyphen, which the engine would take for a command line option. */
const address = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty('must not be blank'),
  v.regex(/^[^-]/, 'must not begin with -'),
  v.maxLength(4096),
)

/**
 * Creates the result tool of one of the two chains.
 * @param empty the meaning of an empty list
 * @param words whom the explanation is for
 */
const createTargetsTool = (empty: string, words: string) => () =>
  createResultTool({
    name: 'generate_engine_targets',
    description: 'Report the addresses that the engine plans.',
    schema: v.object({
      targets: v.pipe(
        v.array(address),
        v.description(
          `Resource or module addresses, for example module.network or terraform_data.app["a"]; empty: ${empty}`,
        ),
      ),
      explanation: explanation(`Why these targets were chosen, ${words}`),
    }),
  })

const ADDRESSES = [
  'A target is a resource or module address as the engine knows it: `type.name`, `module.name`, ' +
    '`module.name.type.name`. Resources only: no variables, outputs, locals, providers or data sources.',
  'Name the resource without an index when all of its instances are meant, with the index when only some are.',
]

/** The outcome of the previous reply in the same round. */
export interface EarlierTargets {
  answer: string[]
  /** Changed blocks that the reply did not name. */
  added: string[]
  /** Addresses that the engine demanded. */
  demanded: string[]
  /** Addresses that do not exist. */
  leftOut: string[]
}

interface SessionTargetsValues {
  /** The session's changes in the form of `describeDiff`; null when they could not be read. */
  diff: string | null
  /** Null on the first call in this round. */
  earlier: EarlierTargets | null
}

/** Names the addresses that the session changed. An empty list means that the whole root is planned. */
export const sessionTargets = defineChain({
  name: 'TARGET_GENERATOR',
  role: 'main',
  system: () =>
    renderLayout({
      role:
        'You name the addresses that the engine has to plan so that the plan shows what this session changed, all ' +
        'of it and nothing else.',
      rules: [
        'List each resource whose block was added, changed or removed. Use the tools only for what the changes do not ' +
          'show.',
        ...ADDRESSES,
        'Every address must exist in the code, or in the state: a removed block is named by the address that it ' +
          'had, and of a `moved` block both sides are named, `from` and `to`.',
        'A changed variable, local, output or data source stands for the resources that use it: list those.',
        'A changed module source, version or input stands for the whole module: list `module.name`. A changed file ' +
          "of a local module stands for the module in each place that calls it, or for the file's changed resources " +
          'in it.',
        'The engine adds what a listed resource depends on: do not list it.',
        'Report an empty list only when the change concerns the whole root (providers, backend, a rename of many ' +
          'modules) or when no single address can be named.',
      ],
      finish: 'Call `generate_engine_targets` once.',
    }),
  query: ({ diff, earlier }: SessionTargetsValues) =>
    joinParts(
      'Name the addresses that the engine has to plan for the changes of this session.',
      diff === null ? 'Call `diff_history` for the changes.' : fence('changes of this session', diff),
      earlier && `You were asked before, and the code has changed since.\n\n${describeEarlier(earlier)}`,
    ),
  tools: ['inspection'],
  resultTool: createTargetsTool('the whole root is planned', 'for the record, in English'),
  read: ({ targets }, { log }) => limitAnswer(targets, log),
})

function describeEarlier({ answer, added, demanded, leftOut }: EarlierTargets): string {
  const lines: [string, string[]][] = [
    ['You answered', answer.length > 0 ? answer : ['an empty list']],
    ['Added, because the changes concern them', added],
    ['Added, because the engine demanded them', demanded],
    ['Left out, because they do not exist', leftOut],
  ]
  const filled = lines.filter(([, addresses]) => addresses.length > 0)
  const text = filled.map(([lead, addresses]) => `${lead}: ${[...new Set(addresses)].join(', ')}`).join('\n')
  return fence('your last answer, and what became of it', text)
}

/** The targets of a request about drift; none if there were too many. `fits` is false without a match. */
type DriftTargets = { fits: true; targets: string[] } | { fits: false; explanation: string }

const NOTHING_FITS = 'Nothing in the code fits this request, so no drift was looked for.'

/** Names the addresses of a request about drift. */
export const driftTargets = defineChain({
  name: 'TARGET_GENERATOR',
  role: 'main',
  bodies: () => ({ targetingPolicies: 'general-guidelines-targeting_policies' }),
  system: ({ targetingPolicies }) =>
    renderLayout({
      role:
        'You translate a request about drift into the addresses that the engine has to compare with the real ' +
        'infrastructure.',
      rules: [
        'Search the code for what the request means; names in a request are often those of the real resource, ' +
          'not of the block.',
        ...ADDRESSES,
        'Read the files: every address must exist in the code.',
        'Stay within the request: a resource that is merely close by is not meant.',
        'Nothing in the code fits: report an empty list and say in the explanation what you looked for.',
        LANGUAGE_RULE,
      ],
      blocks: [['Targeting policies', targetingPolicies]],
      finish:
        'Call `generate_engine_targets` once with `targets` and an `explanation`. An empty list means: nothing is ' +
        'compared, and the explanation is what the user is answered.',
    }),
  query: ({ request }: { request: string }) =>
    `Name the addresses that this request is about.\n\n${fence('request', request)}`,
  seesConversation: true,
  tools: ['inspection'],
  resultTool: createTargetsTool('nothing is compared, and the explanation is the answer', 'written to the user'),
  read: ({ targets, explanation }, { log, mask }): DriftTargets =>
    targets.length > 0
      ? { fits: true, targets: limitAnswer(targets, log) }
      : { fits: false, explanation: mask(explanation).trim() || NOTHING_FITS },
})

function limitAnswer(targets: readonly string[], log: Pick<Logger, 'info'>): string[] {
  const limited = limitTargets(targets)
  if (limited.length === 0 && targets.length > 0)
    log.info('too many targets, the whole root is planned', { targets: targets.length })
  return limited
}
