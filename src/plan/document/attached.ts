import type { DocumentFinding, DocumentResource, DocumentStatement, PlanDocumentFacts } from './plan-document.ts'
import type { Display } from './shown.ts'

/** What was found out about a plan, ready to be attached to its resources. */
export interface Attachments {
  findingsOf(address: string): DocumentResource['findings']
  statementsOf(address: string): string[]
  /** Findings about the plan as a whole, or about addresses that are not among those that were asked for. */
  findings(): DocumentFinding[]
  statements: DocumentStatement[]
}

/** Sorts findings and statements by the address that they are about. Each finding is handed out once. */
export function collectAttachments(
  { findings = [], statements = [] }: PlanDocumentFacts,
  display: Display,
): Attachments {
  const byAddress = Map.groupBy(findings, ({ resource }) => resource)
  const ids = new Map<string, string[]>()
  for (const { id, addresses } of statements)
    for (const address of new Set(addresses)) {
      const list = ids.get(address)
      if (list) list.push(display.text(id))
      else ids.set(address, [display.text(id)])
    }
  const show = ({ rule_id, severity, message, suggested_fix }: DocumentFinding) => ({
    rule_id,
    severity,
    message: display.text(message),
    suggested_fix: suggested_fix === null ? null : display.text(suggested_fix),
  })
  return {
    findingsOf: (address) => {
      const found = byAddress.get(address) ?? []
      byAddress.delete(address)
      return found.map(show)
    },
    statementsOf: (address) => ids.get(address) ?? [],
    findings: () =>
      [...byAddress.values()].flat().map((finding) => ({
        ...show(finding),
        resource: finding.resource === null ? null : display.text(finding.resource),
      })),
    statements: statements.map(({ id, text, verdict, finding }) => ({
      id: display.text(id),
      text: display.text(text),
      verdict,
      finding: display.text(finding),
    })),
  }
}
