import { createResultTool } from '../agent/result-tool.ts'
import { cutMiddle } from '../base/text.ts'
import type { ReportType } from '../base/vocabulary.ts'
import type { FileDiff } from '../plan/code/compare.ts'
import type { DriftOperation } from '../plan/drift.ts'
import { fence, joinParts, LANGUAGE_RULE, type Layout, renderLayout, untitled } from '../prompts/layout.ts'
import { type ApplyReport, narrationSchemas } from '../reports/schemas.ts'
import type { ImportFacts } from '../reports/settle-import.ts'
import { showDiff } from './shared/branch-diff.ts'
import { defineChain } from './shared/chain.ts'
import { describeRequests, describeResult, type PlanBackground } from './shared/plan-background.ts'

/** Four chains that narrate. Counts, status and other known facts replace what the model says about them. */

/** Adds the common rules and the common ending. */
const renderReportLayout = (tool: string, { role, rules, blocks }: Pick<Layout, 'role' | 'rules' | 'blocks'>): string =>
  renderLayout({
    role,
    rules: [
      ...rules,
      'Plain language, short sentences, no praise, no repetition. Never invent a resource, a number or a cause; masked ' +
        'values stay masked.',
      LANGUAGE_RULE,
    ],
    blocks,
    finish: `Call \`${tool}\` once with the complete report; lists are present, empty where there is nothing.`,
  })

const writeReportQuery = (label: string, text: string) => `Write the report.\n\n${fence(label, text)}`

const describeRequest = (request: string): string =>
  request.trim() === '' ? '' : `The request was:\n${fence('request', request)}`

const TOOLS = {
  generate: {
    name: 'generate_engine_plan_report',
    description: 'Report the changes of the plan, their impact and their cost.',
    schema: narrationSchemas.generate,
  },
  drift: {
    name: 'generate_engine_drift_report',
    description: 'Report which drift was remediated and which was not.',
    schema: narrationSchemas.drift,
  },
  apply: {
    name: 'generate_engine_apply_report',
    description: 'Report what the engine changed and what failed.',
    schema: narrationSchemas.apply,
  },
  import: {
    name: 'generate_engine_import_report',
    description: 'Report which resources were imported and which were not.',
    schema: narrationSchemas.import,
  },
} as const satisfies Record<ReportType, object>

/** Writes the report on a plan in the form of `describePlan`. */
export const generateReportWriter = defineChain({
  name: 'REPORT_GENERATOR',
  role: 'main',
  bodies: () => ({ impact: 'general-compliance-impact' }),
  system: ({ impact }) =>
    renderReportLayout(TOOLS.generate.name, {
      role: 'You write the report on a plan for the person who decides whether it is applied.',
      rules: [
        'One entry in `detailed_changes` for each resource that the plan creates, changes, destroys or replaces. Code ' +
          'adds what is moved, imported or leaves the state.',
        'Say what the change means in operation, not only which attribute differs: interruption, loss of data, ' +
          'exposure, permissions, cost.',
        'Set the impact level by the criteria below and give the reason that decided it.',
        'Estimate monthly cost only for what the plan creates, changes or destroys, one row each: `fixed` with an ' +
          'amount when the price does not depend on use, else `usage_based` or `free` with 0. `fixed_monthly_cost` is ' +
          'the cost after the plan, 0 for what is destroyed; `fixed_monthly_cost_before` the cost today, 0 for what is ' +
          'created, null when unknown. Say on which size, region and date a price rests; 0 and why rather than a guess. ' +
          'Where a request asks about cost and no figure is known, say so.',
        'Currency is three capital letters, the same for all amounts, USD unless a request says otherwise.',
        'Report what the plan does, and where it differs from the requests and the words of the author. Code adds ' +
          'totals, assumptions, the changes of others and the remarks: use them where they matter, without a bullet point ' +
          'of their own.',
      ],
      blocks: [['Impact criteria', untitled(impact)]],
    }),
  query: ({ requests, result, plan }: PlanBackground & { plan: string }) =>
    joinParts(
      'Write the report.',
      describeRequests(requests),
      ...describeResult(result),
      `The plan:\n${fence('plan', plan)}`,
    ),
  tools: ['webSearch'],
  resultTool: () => createResultTool(TOOLS.generate),
  read: (report) => report,
})

export interface DriftReportValues {
  /** The user's request, masked; may be blank. */
  request: string
  /** Addresses that were looked at, with what they depend on; empty for the whole root. */
  targets: readonly string[]
  /** The reason why nothing could be compared; null when it could. */
  failure: string | null
  remaining: readonly DriftOperation[]
  /** The filter's explanations of the exceptions. */
  exclusions: readonly string[]
  excepted: readonly DriftOperation[]
  /** Changes by others that the session wrote into the code. */
  written: readonly DriftOperation[]
  /** Diff of the session's branch from the workspace. */
  diff: readonly FileDiff[]
}

/** Writes the report on a drift round. The branch diff shows what was remediated. */
export const driftReportWriter = defineChain({
  name: 'REPORT_GENERATOR',
  role: 'main',
  system: () =>
    renderReportLayout(TOOLS.drift.name, {
      role:
        'You write the report on a drift session: what was brought in line, what was not, what is expected to ' +
        'differ.',
      rules: [
        'What was written into the code stands in a block, by address, and the branch diff shows where; of each ' +
          'difference, `old_value` is what the code said and `new_value` what the infrastructure has. Report nothing ' +
          'else as remediated.',
        'Drift that remains and drift that is expected stand in blocks of their own; without such a block the list ' +
          'is empty.',
        'Give for each remediated resource the file, the address, the attributes and why the code was changed.',
        'A round about some addresses looked at nothing else. What was not looked at is unknown: never say of it that ' +
          'it agrees.',
        '`Succeeded` when nothing remains, `Partial` when something was remediated and something remains, ' +
          '`Failed` when nothing could be remediated.',
      ],
    }),
  query: ({ request, targets, failure, remaining, exclusions, excepted, written, diff }: DriftReportValues) => {
    const left = describeDrift(failure ?? '', remaining)
    const expected = describeDrift(exclusions.join('\n'), excepted)
    return joinParts(
      'Write the report.',
      describeRequest(request),
      written.length > 0 &&
        'Differences that others had made, which this session wrote into the code, so that the last plan no longer ' +
          `shows them:\n${fence('written into the code', describeDrift('', written))}`,
      showDiff(diff),
      !left &&
        (targets.length === 0
          ? 'Nothing else remains: the last plan of the engine says so.'
          : 'Nothing remains of what was looked at: the last plan of the engine says so.'),
      targets.length > 0 &&
        `Only these addresses, and what they depend on, were looked at:\n${fence('looked at', targets.join('\n'))}`,
      left && `Drift that remains:\n${fence('unreconciled drift', left)}`,
      expected && `Drift that is expected and was left as it is:\n${fence('whitelisted exceptions', expected)}`,
    )
  },
  tools: ['inspection'],
  resultTool: () => createResultTool(TOOLS.drift),
  read: (report) => report,
})

const describeDrift = (text: string, operations: readonly DriftOperation[]): string =>
  cutMiddle(joinParts(text, operations.length > 0 && JSON.stringify(operations, null, 2)), 400_000)

/** Writes the report on an apply from engine output in the form of `describeApply`. */
export const applyReportWriter = defineChain({
  name: 'REPORT_GENERATOR',
  role: 'main',
  system: () =>
    renderReportLayout(TOOLS.apply.name, {
      role: 'You write the report on an apply from the output of the engine.',
      rules: [
        'Report what the output says happened, resource by resource; never assume that a planned change took place.',
        'A failed apply may have changed part of the infrastructure: list what was done before the error, and ' +
          'quote the error briefly.',
        '`Success` when everything was applied, `Partial` when something was and something was not, `Failed` ' +
          'when nothing was.',
        'Recommendations are concrete next steps for this output; none are needed after a clean apply.',
      ],
    }),
  query: ({ output, request }: { output: string; request: string }) =>
    joinParts(writeReportQuery('apply output', output), describeRequest(request)),
  tools: ['webSearch'],
  resultTool: () => createResultTool(TOOLS.apply),
  read: (report) => report,
})

/** Describes an apply for a model: what code read in the output, then the output, cut in the middle if needed. */
export const describeApply = ({ summary, status }: ApplyReport, output: string): string =>
  `Computed from the output: ${JSON.stringify({ status, summary })}\n\n${cutMiddle(output, 400_000)}`

interface ImportReportValues {
  facts: ImportFacts
  /** The plan after the import in the form of `describePlan`; null when nothing was selected. */
  plan: string | null
  /** The user's request, masked; may be blank. */
  request: string
}

export const importReportWriter = defineChain({
  name: 'REPORT_GENERATOR',
  role: 'main',
  system: () =>
    renderReportLayout(TOOLS.import.name, {
      role: 'You write the report on an import of existing resources into managed state.',
      rules: [
        'Report each identifier with its address and its result as given; counts follow from the lists.',
        'Excluded identifiers are listed with the reason that is given for them.',
        'Describe in `state_alignment` what the plan after the import still wants to change; an empty plan means ' +
          'that code and infrastructure agree.',
        '`Succeeded` when all selected resources were imported, `Partial` when some were, `Failed` when none was.',
      ],
    }),
  query: (values: ImportReportValues) =>
    joinParts(
      writeReportQuery('import', cutMiddle(JSON.stringify(listImports(values), null, 2), 500_000)),
      describeRequest(values.request),
    ),
  tools: ['webSearch'],
  resultTool: () => createResultTool(TOOLS.import),
  read: (report) => report,
})

/** Maximum number of excluded identifiers for a model; the report has them all. */
const MAX_EXCLUDED = 500

function listImports({ facts: { imported, failed, excluded, nothing }, plan }: ImportReportValues) {
  const excludedIds = excluded.slice(0, MAX_EXCLUDED).map(({ resource_id }) => resource_id)
  const more = excluded.length - excludedIds.length
  const reasons = Map.groupBy(excluded, ({ details }) => details)
  return {
    selected_resource_ids: [...imported, ...failed].map(({ resource_id }) => resource_id),
    excluded_resource_ids: more > 0 ? [...excludedIds, `and ${more} more`] : excludedIds,
    reasons_of_exclusion: Object.fromEntries([...reasons].map(([reason, { length }]) => [reason, length])),
    import_results: { imported: imported.map((pair) => ({ ...pair, error: null })), failed },
    ...(plan === null ? { summary: nothing ?? '' } : { plan_after_import: plan }),
  }
}
