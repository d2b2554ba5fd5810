import { encryptionRules } from '../encryption.ts'
import type { Rule } from '../types.ts'

/** Volumes are encrypted by the storage behind them; only a class can say otherwise. */
export const kubernetesEncryptionRules: Rule[] = encryptionRules('kubernetes', [
  { type: 'kubernetes_storage_class', path: 'parameters.encrypted' },
  { type: 'kubernetes_storage_class_v1', path: 'parameters.encrypted' },
])
