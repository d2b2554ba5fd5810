import type { ReportType } from '../base/vocabulary.ts'

/** Object keys of section 5.3: `sessions/<session uuid>/rounds/<round>/…`, a new token for each write. */
interface KeyOwner {
  /** Database key of the round. */
  id: number
  session: { uuid: string }
}

const prefix = (round: KeyOwner) => `sessions/${round.session.uuid}/rounds/${round.id}`

export const reportKey = (round: KeyOwner, type: ReportType) => `${prefix(round)}/reports/${type}-${token()}.json`
export const complianceKey = (round: KeyOwner) => `${prefix(round)}/compliance/check-${token()}.json`
export const planKey = (round: KeyOwner) => `${prefix(round)}/plans/${token()}.txt`
export const codeChangeKey = (round: KeyOwner, path: string) => `${prefix(round)}/changes/${token()}-${safeName(path)}`

/** 8 random hex characters. */
function token(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(4))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Every run of other characters becomes `_`; at most 100 characters; never empty. */
export const safeName = (path: string) => path.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, 100) || 'file'
