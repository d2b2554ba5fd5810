import type { ReportType } from '../../base/vocabulary.ts'
import { render } from '../layout.ts'

export type ReportGeneratorValues =
  /** Body of `general-compliance-impact`. */
  { type: 'generate'; impact: string } | { type: Exclude<ReportType, 'generate'> }

const TASK: Record<ReportType, { role: string; rules: readonly string[]; tool: string }> = {
  generate: {
    role: 'You write the report on a plan for the person who decides whether it is applied.',
    rules: [
      'One entry in `detailed_changes` for each resource that the plan creates, changes, destroys or replaces, named by its full address.',
      'Say what the change means in operation, not only which attribute differs: interruption, loss of data, exposure, permissions, cost.',
      'Set the impact level by the criteria below and give the reason that decided it. A destroyed or replaced resource that holds data or ' +
        'grants access is high.',
      'Estimate monthly cost only for what the plan creates or changes. Use `fixed` with an amount when the price does not depend on use, ' +
        '`usage_based` with amount 0 otherwise, `free` where nothing is charged. Prices are estimates: say on which size, region and date ' +
        'they rest, look them up with `web_search` when you are not sure, and write 0 rather than guess.',
      'Currency is three capital letters, USD unless the request says otherwise. The total is the sum of the fixed amounts.',
    ],
    tool: 'generate_engine_plan_report',
  },
  drift: {
    role: 'You write the report on a drift session: what was brought in line, what was not, what is expected to differ.',
    rules: [
      'Call `diff_history`: every remediation of this session is in it. Report nothing as remediated that the diff does not show.',
      'Remaining drift and exceptions come only from the blocks in the request; without such a block the lists are empty.',
      'Give for each remediated resource the file, the address, the attributes and why the code was changed.',
      '`Succeeded` when nothing remains, `Partial` when something was remediated and something remains, `Failed` when nothing could be remediated.',
    ],
    tool: 'generate_engine_drift_report',
  },
  apply: {
    role: 'You write the report on an apply from the output of the engine.',
    rules: [
      'Report what the output says happened, resource by resource; never assume that a planned change took place.',
      'A failed apply may have changed part of the infrastructure: list what was done before the error, and quote the error briefly.',
      '`Success` when everything was applied, `Partial` when something was and something was not, `Failed` when nothing was.',
      'Recommendations are concrete next steps for this output; none are needed after a clean apply.',
    ],
    tool: 'generate_engine_apply_report',
  },
  import: {
    role: 'You write the report on an import of existing resources into managed state.',
    rules: [
      'Report each identifier with its address and its result as given; counts follow from the lists.',
      'Excluded identifiers are listed with the reason.',
      'Describe in `state_alignment` what the plan after the import still wants to change; an empty plan means that code and infrastructure agree.',
      '`Succeeded` when all selected resources were imported, `Partial` when some were, `Failed` when none was.',
    ],
    tool: 'generate_engine_import_report',
  },
}

/** REPORT_GENERATOR, sentinel of the report type. */
export function reportGeneratorLayout(values: ReportGeneratorValues): string {
  const { role, rules, tool } = TASK[values.type]
  return render({
    role,
    rules: [
      ...rules,
      'Plain language, short sentences, no praise, no repetition. Never invent a resource, a number or a cause.',
      'Values shown as masked or sensitive stay so; do not guess them.',
    ],
    blocks: values.type === 'generate' ? [['Impact criteria', values.impact]] : [],
    finish: `Call \`${tool}\` once with the complete report; every list key is present, empty where there is nothing.`,
  })
}
