import * as v from 'valibot'
import type { ReportType } from '../../../src/base/vocabulary.ts'
import type { ListedAction } from '../../../src/plan/actions.ts'
import type { ChangeList, ListedChange } from '../../../src/plan/change-list.ts'
import type { Evidence, StoredDocument } from '../../../src/pull-requests/evidence/evidence.ts'
import { complianceVerdict } from '../../../src/reports/compliance.ts'
import {
  type ComplianceReport,
  complianceFindings,
  type ReportDocuments,
  reportSchemas,
} from '../../../src/reports/schemas.ts'
import { emptyResult, type RoundResult } from '../../../src/rounds/round-result.ts'

export const UUID = '11111111-2222-4333-8444-555555555555'
const AT = '2026-01-31T23:59:58.123456Z'

/** Makes a stored report from the parts that matter. */
export const report = <Type extends ReportType>(
  type: Type,
  document: unknown,
  round = 1,
): StoredDocument<ReportDocuments[Type]> => {
  const schema: v.GenericSchema<unknown, ReportDocuments[Type]> = SCHEMAS[type]
  return { round, created_at: AT, document: v.parse(schema, document) }
}
const SCHEMAS: { [Type in ReportType]: v.GenericSchema<unknown, ReportDocuments[Type]> } = reportSchemas

export const lost = (round = 1): StoredDocument<never> => ({ round, created_at: AT, document: null })

export const generateReport = (changes: Record<string, unknown> = {}, round = 1) =>
  report(
    'generate',
    {
      summary: { create: 1 },
      detailed_changes: [{ name: 'aws_s3_bucket.logs', action: 'create', summary: 'A bucket.' }],
      potential_impact: { banner: { level: 'low', title: 'Small', description: 'One bucket.' } },
      estimated_costs: {},
      ...changes,
    },
    round,
  )

export function check(violations: unknown[] = [], round = 1): StoredDocument<ComplianceReport> & { passed: boolean } {
  const document = complianceVerdict(
    v.parse(complianceFindings, { violations, summary: 'Audited.', checked_rules: ['scope_exceeded'] }),
  )
  return { round, created_at: AT, passed: document.passed, document }
}

type Changes = Partial<Omit<Evidence, 'session'>> & { session?: Partial<Evidence['session']> }

/** Makes the evidence of a session with one good generate round, with changes. */
export function evidenceOf({ session, ...changes }: Changes = {}): Evidence {
  return {
    rounds: [{ number: 1, mode: 'generate', query: 'Add a bucket', status: 'completed' }],
    generate: generateReport(),
    drift: null,
    import: null,
    apply: null,
    compliance: check(),
    plan: { targets: [], created_at: AT, text: 'Plan: 1 to add' },
    ...changes,
    session: {
      user_id: 1,
      uuid: UUID,
      operation: 'generate',
      first_query: 'Add a bucket',
      history: [],
      uri: 'https://github.com/acme/infra',
      branch: 'Platform/2026-01-31_235959-1a2b',
      is_blocked: false,
      in_flight: false,
      last_commit: '0123456789abcdef0123456789abcdef01234567',
      ...session,
    },
  }
}

export function evidenceWith(result: Partial<RoundResult>, changes: Changes = {}): Evidence {
  const evidence = evidenceOf(changes)
  return {
    ...evidence,
    rounds: evidence.rounds.map((round) => ({ ...round, result: { ...emptyResult(), ...result } })),
  }
}

/** Makes a change list with these entries and their counts. */
export function changeListOf(entries: ListedChange[]): ChangeList {
  const count = (action: ListedAction) => entries.filter((entry) => entry.action === action).length
  return {
    entries,
    total: entries.length,
    counts: {
      create: count('create'),
      update: count('update'),
      delete: count('delete'),
      replace: count('replace'),
      move: entries.filter(({ previous_address }) => previous_address !== undefined).length,
      import: entries.filter(({ import_id }) => import_id !== undefined).length,
      forget: count('forget'),
    },
  }
}

/** Makes a drift or import session, which has no plan for review. */
export const withoutPlan = (changes: Changes): Evidence =>
  evidenceOf({ generate: null, compliance: null, plan: null, ...changes })

/** Returns the text of one section; null if it is missing. */
export function sectionOf(text: string, title: string): string | null {
  const found = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`))
  return found === undefined ? null : found.slice(title.length).trim()
}
export const titlesOf = (text: string): string[] => [...text.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title)
