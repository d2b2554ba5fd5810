import type { Round, Session } from '../../../api/types.ts'

export const ReportPart = ({ round }: { session: Session; round: Round }) => <p>{round.reports.length}</p>
