import { type Conversation, oneCall, type Reply } from '../conversation.ts'
import { findRecording } from '../recordings.ts'

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

const TITLES = { high: 'Something is destroyed', medium: 'Running resources change', low: 'Only additions' }

/** REPORT_GENERATOR of a generate round: writes its report. */
export function planReport({ query }: Conversation): Reply {
  const changes = parseChanges(query)
  const count = (action: Action) => changes.filter((change) => change.action === action).length
  const [created, updated, deleted, replaced] = [count('create'), count('update'), count('delete'), count('recreate')]
  const level = deleted + replaced > 0 ? 'high' : updated > 0 ? 'medium' : 'low'
  const types = [...new Set(changes.map((change) => change.name.split('.').at(-2) ?? change.name))]
  const report = {
    summary: { create: created, update: updated, delete: deleted, recreate: replaced },
    detailed_changes: changes.map(({ name, action }) => ({
      name,
      action,
      summary: `${name} ${WORDS[action]}.`,
      details: findPlanBlock(query, name),
    })),
    potential_impact: {
      banner: { level, title: TITLES[level], description: `The plan touches ${resources(changes.length)}.` },
      summary:
        `${resources(changes.length)}: ${created} created, ${updated} changed, ${deleted} destroyed, ` +
        `${replaced} replaced.`,
      bullet_points: changes.map(({ name, action }) => ({ title: name, description: `${name} ${WORDS[action]}.` })),
    },
    estimated_costs: findRecording(query.split(AFTER_REQUESTS)[0] ?? '')?.costs ?? {
      introduction_paragraph: 'The resources are built into the engine and cost nothing.',
      breakdown: types.map((resource_type) => ({
        resource_type,
        pricing_model: 'free',
        notes: 'Built into the engine.',
      })),
    },
  }
  return oneCall('generate_engine_plan_report', report)
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
  const checked_rules = ['scope_exceeded', 'scope_incomplete', 'critical_deletion']
  return oneCall('report_compliance_findings', { violations, summary, checked_rules })
}
