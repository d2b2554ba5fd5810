import { type ComplianceFindings, complianceFindings } from '../../reports/schemas.ts'
import type { Tool } from '../types.ts'
import { sentinel } from './sentinel.ts'

/** Ends COMPLIANCE_CHECKER; the verdict is computed with `complianceVerdict`. */
export const complianceFindingsTool = (): Tool<ComplianceFindings> =>
  sentinel({
    name: 'report_compliance_findings',
    description: 'Report every violation of the rules, a summary, and which rules were checked.',
    schema: complianceFindings,
  })
