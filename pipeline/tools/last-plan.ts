import * as v from 'valibot'
import { cutEnd, endSentence } from '../../src/base/text.ts'
import { describeChange } from '../../src/plan/actions.ts'
import { covers } from '../../src/plan/addresses.ts'
import { countsInWords, renderPath } from '../../src/plan/change-list.ts'
import type { DocumentAttribute, DocumentResource, PlanDocument } from '../../src/plan/document/plan-document.ts'
import type { LastReview, ReviewDocuments } from '../../src/reports/last-review.ts'
import { defineTool, optionalText } from './tool.ts'

/** Maximum characters of each list of the answer, of one of its lines, and of one value. */
const ROOM = { changes: 6_000, findings: 4_000, statements: 2_000, outside: 2_000, resources: 12_000 }
const MAX_LINE = 600
const MAX_VALUE = 300

/**
 * Creates the tool that shows the last stored plan of the session with its report and findings, which were masked when
 * they were stored.
 * @param read reads the documents; `null` stands for one that does not exist or cannot be read
 */
export const lastPlanTool = (review: LastReview, read: (signal: AbortSignal) => Promise<ReviewDocuments>) =>
  defineTool({
    name: 'last_plan',
    description:
      'Look up the last plan of an earlier round of this session, with its report, findings and unmet statements: ' +
      'without `about` the overview, one line a change, with it the attributes that differ. It does not know what you ' +
      'change now.',
    schema: v.object({
      about: optionalText('Address of a resource, block or module, or rule of a finding, from the overview'),
    }),
    reads: true,
    run: async ({ about }, signal) => {
      const documents = await read(signal)
      const parts = about ? describeAbout(documents, about) : describeAll(review, documents)
      return [describeOrigin(review, documents), ...parts].filter((part) => part !== '').join('\n\n')
    },
  })

/** Says from which round the plan is, and what became of it. */
function describeOrigin({ round, mode }: LastReview, { applies }: ReviewDocuments): string {
  const lines = applies.map(({ round: by, report }) =>
    report
      ? `Round ${by} applied it: ${report.status}. ${cutEnd(report.execution_summary, MAX_LINE)}`
      : `Round ${by} gave it to the engine; what came of it cannot be read at present.`,
  )
  return [`The plan of round ${round} (${mode}).`, ...(lines.length > 0 ? lines : ['It was not applied.'])].join(' ')
}

function describeAll({ result, check }: LastReview, { plan, report, findings }: ReviewDocuments): string[] {
  const gaps = result?.gaps ?? []
  return [
    plan ? `${countsInWords(plan.summary)}; ${describeTargets(plan)}` : NOT_READ,
    describeReport(report),
    section('What the report begins with', gaps, ROOM.statements),
    plan ? section('Unmet', statementLines(plan, 'unmet'), ROOM.statements) : '',
    plan ? section('Changes', plan.resources.filter(isChange).map(lineOf), ROOM.changes) : '',
    plan ? describeOutside(plan) : '',
    describeAudit(check, findings),
  ]
}

const NOT_READ = 'The plan itself cannot be read at present.'

const describeTargets = ({ targets }: PlanDocument): string =>
  targets.length === 0
    ? 'a plan of the whole root.'
    : cutEnd(`planned with the targets ${targets.join(', ')}.`, MAX_LINE)

function describeReport(report: ReviewDocuments['report']): string {
  if (report === null) return 'There is no report that can be read.'
  if (report.type === 'generate') {
    const { potential_impact: impact, estimated_costs: costs } = report.document
    const { level, title, description } = impact.banner
    const words = [`Report: impact ${level}.`, title, description, costs.introduction_paragraph]
    return cutEnd(sentences(words), 2 * MAX_LINE)
  }
  const told = report.document
  const words = 'execution_summary' in told ? told.execution_summary : told.summary
  return cutEnd(sentences([`Report: ${told.status}.`, words]), 2 * MAX_LINE)
}

const sentences = (words: readonly string[]) =>
  words
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(endSentence)
    .join(' ')

function describeOutside({ outside_targets: outside }: PlanDocument): string {
  if (!outside) return ''
  if (!outside.made)
    return cutEnd(`What a plan of the whole root would change besides is not known: ${outside.reason}`, MAX_LINE)
  return section(
    'Only a plan of the whole root would also change',
    outside.changes.map(({ moved_from, ...change }) =>
      describeChange({ ...change, ...(moved_from !== undefined && { previous_address: moved_from }) }),
    ),
    ROOM.outside,
    outside.changes_left_out,
  )
}

function describeAudit(check: LastReview['check'], findings: ReviewDocuments['findings']): string {
  if (check === null) return 'The plan was not audited.'
  const verdict = check.passed ? 'The audit passed' : 'The audit failed'
  if (findings === null) return `${verdict}; its findings cannot be read at present.`
  if (findings.length === 0) return `${verdict} without findings.`
  return section(`${verdict}. Findings`, findings.map(findingLine), ROOM.findings)
}

type Finding = NonNullable<ReviewDocuments['findings']>[number]

const findingLine = ({ severity, rule_id, resource, message, suggested_fix }: Finding): string =>
  `${severity} ${rule_id}${resource ? ` at ${resource}` : ''}: ${sentences([message, suggested_fix ?? ''])}`

/** Lists statements with one verdict, or with any, which is then named. */
function statementLines({ statements }: PlanDocument, verdict: 'unmet' | null, ids?: readonly string[]): string[] {
  return statements
    .filter((one) => (verdict === null || one.verdict === verdict) && (ids?.includes(one.id) ?? true))
    .map(
      ({ verdict: is, text, finding }) =>
        `${verdict === null ? `${is}: ` : ''}${sentences([`Expected: ${text}`, `Found: ${finding}`])}`,
    )
}

const isChange = ({ action, import: imported, moved_from }: DocumentResource): boolean =>
  (action !== 'none' && action !== 'read') || imported !== null || moved_from !== null

function lineOf({ address, action, moved_from, replace, action_reason, import: imported }: DocumentResource): string {
  const reasons = replace?.reasons.map(({ path }) => renderPath(path)) ?? []
  const forced = reasons.length > 0 ? `forced by ${reasons.join(', ')}` : (action === 'replace' && action_reason) || ''
  const notes = [
    forced,
    replace?.keeps_old ? 'the old object stays, unmanaged' : '',
    imported && action !== 'import' ? 'imported' : '',
  ]
  const words = notes.filter((note) => note !== '').join('; ')
  const change = describeChange({ address, action, ...(moved_from !== null && { previous_address: moved_from }) })
  return words === '' ? change : `${change} (${words})`
}

/** Describes the resources that an address covers, or that a rule has found. */
function describeAbout({ plan, findings }: ReviewDocuments, about: string): string[] {
  if (plan === null) return [NOT_READ]
  const found = findings ?? [
    ...plan.findings,
    ...plan.resources.flatMap((one) => one.findings.map((finding) => ({ ...finding, resource: one.address }))),
  ]
  const byRule = found.filter(({ rule_id }) => rule_id === about)
  const named = new Set(byRule.map(({ resource }) => resource))
  const resources = plan.resources.filter(
    ({ address, moved_from }) =>
      covers(about, address) || (moved_from !== null && covers(about, moved_from)) || named.has(address),
  )
  const addresses = new Set(resources.map(({ address }) => address))
  const related = found.filter((one) => byRule.includes(one) || (one.resource !== null && addresses.has(one.resource)))
  if (resources.length + related.length === 0)
    return [
      `It has nothing about ${JSON.stringify(cutEnd(about, MAX_LINE))}: the overview, without \`about\`, lists what it has.`,
    ]
  const ids = resources.flatMap(({ statements }) => statements)
  return [
    describeResources(resources),
    section('Findings', related.map(findingLine), ROOM.findings),
    section('What the request states about it', statementLines(plan, null, ids), ROOM.statements),
  ]
}

/** Describes resources attribute by attribute, and names those for which there is no room. */
function describeResources(resources: readonly DocumentResource[]): string {
  const shown: string[] = []
  const omitted: string[] = []
  let room = ROOM.resources
  for (const resource of resources) {
    const lines = resource.attributes.filter(({ change }) => change !== 'same').map(attributeLine)
    const left = resource.attributes_left_out
    const text = section(lineOf(resource), lines, ROOM.resources, left) || `${lineOf(resource)}: no attribute differs.`
    if (shown.length > 0 && text.length > room) omitted.push(resource.address)
    else {
      shown.push(text)
      room -= text.length
    }
  }
  return [...shown, section('No room for these, ask for them alone', omitted, ROOM.outside)]
    .filter((part) => part !== '')
    .join('\n\n')
}

function attributeLine({ path, before, after, unknown, sensitive, cut }: DocumentAttribute): string {
  const show = (value: DocumentAttribute['before']) => cutEnd(JSON.stringify(value), MAX_VALUE)
  const notes = [sensitive && 'sensitive', cut && 'long values are cut'].filter((note) => note)
  const words = notes.length > 0 ? ` (${notes.join(', ')})` : ''
  return `${renderPath(path)}: ${show(before)} -> ${unknown ? 'known after the apply' : show(after)}${words}`
}

/**
 * Writes a list below its title, as far as it has room, and says how many lines are left out; empty without lines.
 * @param leftOut how many were left out before
 */
function section(title: string, lines: readonly string[], room: number, leftOut = 0): string {
  if (lines.length + leftOut === 0) return ''
  const shown: string[] = []
  let left = room
  for (const line of lines.map((text) => cutEnd(text.replaceAll(/\s+/g, ' '), MAX_LINE))) {
    left -= line.length + 3
    if (left < 0 && shown.length > 0) break
    shown.push(`- ${line}`)
  }
  const more = lines.length - shown.length + leftOut
  return [`${title}:`, ...shown, ...(more > 0 ? [`- and ${more} more, left out here`] : [])].join('\n')
}
