import { type ComplianceFindings, complianceFindings } from '../../reports/schemas.ts'
import { createResultTool } from '../result-tool.ts'
import type { Tool } from '../types.ts'

/** Ends COMPLIANCE_CHECKER; the verdict is computed with `complianceVerdict`. */
export const complianceFindingsTool = (): Tool<ComplianceFindings> =>
  createResultTool({
    name: 'report_compliance_findings',
    description: 'Report every violation of the rules, a summary, and which rules were checked.',
    schema: complianceFindings,
  })
