import type { DocumentFinding, DocumentResource, DocumentStatement, PlanDocumentFacts } from './plan-document.ts'
import type { Display } from './shown.ts'

/** Findings and statements about a plan, by resource. */
export interface Attachments {
  findingsOf(address: string): DocumentResource['findings']
  statementsOf(address: string): string[]
  /** Returns findings about the whole plan or about addresses that were not requested. */
  findings(): DocumentFinding[]
  statements: DocumentStatement[]
}

/** Groups findings and statements by address; each finding is returned once. */
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
