import type { Cloud, SessionSummary } from '../../client/api/types.ts'

type Mode = SessionSummary['operation'] | 'apply'

/** The clouds of the API, as their makers write them. */
export const CLOUDS: Record<Cloud, string> = {
  aws: 'AWS',
  azure: 'Azure',
  gcp: 'Google Cloud',
  oci: 'Oracle Cloud',
  kubernetes: 'Kubernetes',
}

/** What a round does, by the API's word for it. */
export const MODES: Record<Mode, string> = { generate: 'Generate', drift: 'Drift', import: 'Import', apply: 'Apply' }
