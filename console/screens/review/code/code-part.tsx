import type { Round, Session } from '../../../api/types.ts'

export const CodePart = ({ round }: { session: Session; round: Round }) => <p>{round.code_changes.length}</p>
