import { type Conversation, call, type Reply } from '../conversation.ts'

type Action = 'create' | 'update' | 'delete' | 'recreate'
const ACTIONS: [RegExp, Action][] = [
  [/^ +# (\S.*?) will be created$/gm, 'create'],
  [/^ +# (\S.*?) will be updated in-place$/gm, 'update'],
  [/^ +# (\S.*?) will be destroyed$/gm, 'delete'],
  [/^ +# (\S.*?) (?:must be replaced|is tainted, so must be replaced|will be replaced.*)$/gm, 'recreate'],
]

/** Reads the changes from the text of a plan, in their order. */
function parseChanges(text: string): { name: string; action: Action }[] {
  return ACTIONS.flatMap(([pattern, action]) =>
    [...text.matchAll(pattern)].map((match) => ({ name: match[1] ?? '', action, at: match.index })),
  )
    .sort((a, b) => a.at - b.at)
    .map(({ name, action }) => ({ name, action }))
}

const WORDS: Record<Action, string> = {
  create: 'is created',
  update: 'is changed in place',
  delete: 'is destroyed',
  recreate: 'is destroyed and created again',
}

const resources = (count: number): string => `${count} resource${count === 1 ? '' : 's'}`

/** REPORT_GENERATOR of a generate round: writes its report. */
export function planReport({ query }: Conversation): Reply {
  const changes = parseChanges(query)
  const count = (action: Action) => changes.filter((change) => change.action === action).length
  const summary = {
    create: count('create'),
    update: count('update'),
    delete: count('delete'),
    recreate: count('recreate'),
  }
  const level = summary.delete + summary.recreate > 0 ? 'high' : summary.update > 0 ? 'medium' : 'low'
  const types = [...new Set(changes.map((change) => change.name.split('.').at(-2) ?? change.name))]
  const report = {
    summary,
    detailed_changes: changes.map(({ name, action }) => ({
      name,
      action,
      notes: '',
      summary: `${name} ${WORDS[action]}.`,
      details: findPlanBlock(query, name),
    })),
    potential_impact: {
      banner: {
        level,
        title:
          level === 'high'
            ? 'Something is destroyed'
            : level === 'medium'
              ? 'Running resources change'
              : 'Only additions',
        description: `The plan touches ${resources(changes.length)}.`,
      },
      summary:
        `${resources(changes.length)}: ${summary.create} created, ${summary.update} changed, ${summary.delete} ` +
        `destroyed, ${summary.recreate} replaced.`,
      bullet_points: changes.map(({ name, action }) => ({ title: name, description: `${name} ${WORDS[action]}.` })),
    },
    estimated_costs: {
      currency: 'USD',
      total_fixed_monthly_cost: 0,
      introduction_paragraph: 'The resources are built into the engine and cost nothing.',
      breakdown: types.map((resourceType) => ({
        resource_type: resourceType,
        pricing_model: 'free',
        fixed_monthly_cost: 0,
        notes: 'Built into the engine.',
      })),
    },
  }
  return { calls: [call('generate_engine_plan_report', report)] }
}

/** Finds the attributes that the plan prints for an address. */
function findPlanBlock(text: string, name: string): string {
  const start = text.indexOf(`# ${name} `)
  const end = text.indexOf('\n    }', start)
  if (start < 0 || end < 0) return ''
  const lines = text.slice(start, end).split('\n').slice(2)
  return lines.map((line) => line.trim().replace(/^[+~-] /, '')).join('\n')
}

/** Headings that follow the requests in the query of an audit. */
const AFTER_REQUESTS = /^(?:What the author of the code told|Found by code|Remarks of code|The plan:)/m

/** COMPLIANCE_CHECKER: finds deletions that no request of the session named. They are critical. */
export function auditPlan({ query }: Conversation): Reply {
  const wanted = /\b(delete|destroy|remove|drop|replace)\b/i.test(query.split(AFTER_REQUESTS)[0] ?? '')
  const losses = parseChanges(query).filter((change) => change.action === 'delete' || change.action === 'recreate')
  const violations = (wanted ? [] : losses).map(({ name, action }) => ({
    rule_id: 'critical_deletion',
    severity: 'critical',
    resource: name,
    message: `${name} ${WORDS[action]}, which no request asks for.`,
    suggested_fix: 'Keep the block, or ask for the removal.',
  }))
  const summary =
    violations.length === 0
      ? 'The plan does what was asked for and nothing else.'
      : 'The plan destroys more than was asked for.'
  return {
    calls: [
      call('report_compliance_findings', {
        violations,
        summary,
        checked_rules: ['scope_exceeded', 'scope_incomplete', 'critical_deletion'],
      }),
    ],
  }
}
