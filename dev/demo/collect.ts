import type { PlanDocument } from '../../src/plan/document/plan-document.ts'
import type { ReportDocuments } from '../../src/reports/schemas.ts'
import { type Artifact, download, type Round, type Session } from './api.ts'

export interface Collected {
  artifacts: { kind: string; url: string; bytes: number }[]
  reports: Partial<ReportDocuments>
  report_url: string | null
  findings: number | null
  /** Names of the changed files, round by round. */
  files: string[]
  /** Text and targets of the last plan; null if nothing was planned. */
  plan: { text: string; targets: string[] } | null
  /** The last plan as data; null when there is none. */
  document: PlanDocument | null
  /** Addresses of the resources in the first drift that was read. */
  drift: string[]
  /** The list of the last import preview; null when there was none. */
  preview: {
    counts: Round['previews'][number]['counts']
    unmanaged: { kind: string | null; resource_id: string }[]
  } | null
}

/** Downloads every artifact of the session through its presigned URL. */
export async function collect(session: Session, metadataPrefix: string, signal: AbortSignal): Promise<Collected> {
  const collected: Collected = {
    ...{ artifacts: [], reports: {}, report_url: null, findings: null, files: [] },
    ...{ plan: null, document: null, drift: [], preview: null },
  }
  const get = async (artifact: Artifact, kind: string) => {
    const { text, bytes, headers } = await download(artifact, signal)
    const type = headers.get(`${metadataPrefix}type`)
    collected.artifacts.push({ kind: kind === 'plan' && type === 'drift' ? 'drift' : kind, url: artifact.url, bytes })
    return { text, type }
  }
  for (const round of session.rounds) {
    for (const change of round.code_changes) {
      await get(change, 'code_change')
      collected.files.push(change.file_name)
    }
    for (const plan of round.plans) {
      const { text, type } = await get(plan, 'plan')
      if (type !== 'drift') collected.plan = { text, targets: plan.targets }
      else if (collected.drift.length === 0)
        collected.drift = (JSON.parse(text) as { address: string }[]).map(({ address }) => address)
    }
    for (const preview of round.previews) collected.preview = JSON.parse((await get(preview, 'preview')).text)
    for (const report of round.reports) {
      collected.report_url = report.url
      Object.assign(collected.reports, { [report.type]: JSON.parse((await get(report, 'report')).text) })
    }
    for (const check of round.compliance_checks)
      collected.findings = JSON.parse((await get(check, 'compliance_check')).text).violations.length
  }
  const url = session.rounds.flatMap(({ plans }) => plans.flatMap((plan) => plan.document_url ?? [])).at(-1)
  if (url) collected.document = JSON.parse((await download({ url, file_size_bytes: null }, signal)).text)
  return collected
}
