import type { Masker } from '../base/masking.ts'
import { type Entry, fullAddress } from './apply-facts.ts'
import { type ApplyReport, finishReport, reportSchemas } from './schemas.ts'

/**
 * Settles the stored report: results, counts and status come from facts, the prose from the model. When the model's
 * counts or status differ, the summary begins with the facts.
 * @param narration the model's report; null when it wrote none
 * Errors: `ReportGenerationError` `report 'apply' generation error.`
 */
export function settleApplyReport(narration: ApplyReport | null, facts: ApplyReport, masker: Masker): ApplyReport {
  return finishReport('apply', reportSchemas.apply, narration === null ? facts : narrateFacts(narration, facts), masker)
}

function narrateFacts(narration: ApplyReport, facts: ApplyReport): ApplyReport {
  const agrees =
    narration.status === facts.status &&
    (['created', 'updated', 'destroyed', 'failed'] as const).every(
      (name) => narration.summary[name] === facts.summary[name],
    )
  return {
    ...facts,
    execution_summary: agrees
      ? narration.execution_summary
      : `${facts.execution_summary} ${narration.execution_summary}`,
    resource_changes: facts.resource_changes.map((entry) => ({
      ...entry,
      details: narratedDetails(narration, entry) || entry.details,
    })),
    recommendations: [...facts.recommendations, ...narration.recommendations.filter((text) => text.trim() !== '')],
  }
}

/** Returns the model's words about an entry, found by address, type and name, or name; empty when there are none. */
function narratedDetails(narration: ApplyReport, { resource_type, resource_name, action }: Entry): string {
  const names = [`${resource_type}.${resource_name}`, resource_name, fullAddress(resource_type, resource_name)]
  const match = narration.resource_changes.find(
    (entry) =>
      names.includes(entry.resource_name.trim()) &&
      ['', resource_type].includes(entry.resource_type) &&
      entry.action === action,
  )
  return match?.details.trim() ?? ''
}
