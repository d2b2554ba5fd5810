import type { Round, Session } from '../../../api/types.ts'

export const CompliancePart = ({ round }: { session: Session; round: Round }) => <p>{round.compliance_checks.length}</p>
