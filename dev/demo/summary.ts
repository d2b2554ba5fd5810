import { type Artifact, type Downloaded, download, type PullRequest, type Round, type Session } from './api.ts'
import type { Display } from './display.ts'

interface PlanReport {
  summary: { create: number; update: number; delete: number; recreate: number }
  detailed_changes: { name: string; action: string }[]
  potential_impact: { banner: { level: string; title: string } }
}

/** The object of `--json`; its keys are documented and stay. */
export interface DemoResult {
  session_id: string
  mode: 'generate'
  status: string
  statuses: string[]
  plan: { create: number; update: number; delete: number; replace: number }
  targets: string[]
  validation_attempts: number
  pull_request: PullRequest | null
  artifacts: Downloaded[]
  engine: { name: string; version: string }
  duration_s: number
  engine_s: number
  model_s: number
}

/** Everything the round left behind, downloaded. */
export interface Collected {
  artifacts: Downloaded[]
  report: PlanReport | null
  findings: number | null
  /** File name and text of each code change, oldest first. */
  changes: { file_name: string; text: string }[]
  /** Targets of the last plan, drift aside. */
  targets: string[]
}

/** Downloads every artifact of the session through its presigned URL. */
export async function collect(session: Session, metadata_prefix: string, signal: AbortSignal): Promise<Collected> {
  const collected: Collected = { artifacts: [], report: null, findings: null, changes: [], targets: [] }
  const get = async (artifact: Artifact, kind: string) => {
    const { text, bytes, headers } = await download(artifact, signal)
    const type = headers.get(`${metadata_prefix}type`)
    collected.artifacts.push({ kind: kind === 'plan' && type === 'drift' ? 'drift' : kind, url: artifact.url, bytes })
    return { text, type }
  }
  for (const round of session.rounds) await collectRound(round, collected, get)
  return collected
}

async function collectRound(
  round: Round,
  collected: Collected,
  get: (artifact: Artifact, kind: string) => Promise<{ text: string; type: string | null }>,
): Promise<void> {
  for (const change of round.code_changes)
    collected.changes.push({ file_name: change.file_name, text: (await get(change, 'code_change')).text })
  for (const plan of round.plans) if ((await get(plan, 'plan')).type !== 'drift') collected.targets = plan.targets
  for (const report of round.reports) collected.report = JSON.parse((await get(report, 'report')).text) as PlanReport
  for (const check of round.compliance_checks)
    collected.findings = (JSON.parse((await get(check, 'compliance_check')).text) as { violations: unknown[] }).violations.length
}

/** Sums over the rounds, as the platform measured them. */
export function usageOf(session: Session): Pick<DemoResult, 'engine_s' | 'model_s' | 'validation_attempts'> {
  const sum = (pick: (usage: NonNullable<Round['usage']>) => number) =>
    Math.round(session.rounds.reduce((total, { usage }) => total + (usage ? pick(usage) : 0), 0) * 1000) / 1000
  return {
    engine_s: sum((usage) => usage.engine_s),
    model_s: sum((usage) => usage.model_s),
    validation_attempts: sum((usage) => usage.validation_attempts),
  }
}

const SIGNS: Record<string, string> = { create: '+', update: '~', delete: '-', recreate: '-/+' }

/** The end of the demo in words. */
export function showSummary(display: Display, collected: Collected, result: DemoResult): void {
  const { report, changes } = collected
  const { plan } = result
  const row = (name: string, text: string) => display.line(`${display.paint('bold', name.padEnd(13))} ${text}`)
  display.line()
  row('code', [...new Set(changes.map((change) => change.file_name))].join(', ') || 'nothing changed')
  if (result.validation_attempts > 1) {
    row('repair', `attempt 1 was refused by the engine, attempt ${result.validation_attempts} passed:`)
    for (const line of repairLines(changes)) display.line(`                ${display.paint(line.startsWith('+') ? 'green' : 'red', line)}`)
  }
  row('plan', `${plan.create} to create, ${plan.update} to change, ${plan.delete} to destroy, ${plan.replace} to replace`)
  for (const { name, action } of report?.detailed_changes ?? []) display.line(`                ${(SIGNS[action] ?? '?').padEnd(3)} ${name}`)
  if (report) row('impact', `${report.potential_impact.banner.level}: ${report.potential_impact.banner.title}`)
  if (collected.findings !== null) row('compliance', collected.findings === 0 ? 'passed, no findings' : `${collected.findings} findings`)
  const bytes = result.artifacts.reduce((total, artifact) => total + artifact.bytes, 0)
  row('artifacts', `${result.artifacts.length} downloaded through presigned URLs, ${(bytes / 1000).toFixed(1)} kB`)
  const link = collected.artifacts.find((artifact) => artifact.kind === 'report')?.url
  if (link) row('report', link)
  if (result.pull_request) row('pull request', `${result.pull_request.url} (${result.pull_request.status})`)
}

/** Lines that the last diff of a file that was written before takes out and puts in. */
function repairLines(changes: readonly { file_name: string; text: string }[]): string[] {
  const seen = new Set<string>()
  let last = ''
  for (const { file_name, text } of changes) {
    if (seen.has(file_name) && /^@@/m.test(text)) last = text
    seen.add(file_name)
  }
  return last
    .split('\n')
    .filter((line) => /^[+-](?![+-]{2} )/.test(line))
    .slice(0, 12)
}
