import type { Masker } from '../base/masking.ts'
import type { DriftReport } from './schemas.ts'
import { type DriftFacts, settleDriftReport } from './settle-drift.ts'

const DIFFERS = 'Code and infrastructure differ here. This was a preview, so nothing was changed.'

/**
 * Settles the report of a drift preview. Its lists are those of a drift round in which nothing was remediated; its
 * status says whether drift could be read, since a preview that finds drift has done what it was asked for.
 * @param seen all operations are masked
 * Errors: `ReportGenerationError` `report 'drift' generation error.`
 */
export function settleDriftPreview(
  seen: Pick<DriftFacts, 'remaining' | 'excepted' | 'notes' | 'failure'>,
  masker: Masker,
): DriftReport {
  const { remaining, excepted, failure } = seen
  const narration: DriftReport = {
    summary: '',
    status: 'Failed',
    remediated_resources: [],
    unreconciled_drift: remaining.map(({ address }) => ({ resource_address: address, reason: DIFFERS, details: [] })),
    whitelisted_exceptions: [],
  }
  const facts: DriftFacts = { ...seen, detected: [...remaining, ...excepted], changedFiles: [], beyond: null }
  const settled = settleDriftReport(narration, facts, masker)
  if (failure !== null) return { ...settled, summary: 'The drift could not be read. Nothing was changed.' }
  return { ...settled, status: 'Succeeded', summary: summaryOf(remaining.length, excepted.length) }
}

function summaryOf(remaining: number, excepted: number): string {
  if (remaining + excepted === 0) return 'No drift was found: the code describes the infrastructure as it is.'
  const resources = remaining === 1 ? '1 resource differs' : `${remaining} resources differ`
  return `Preview: ${resources}, and ${excepted} more as the exception rules expect. Nothing was changed.`
}
