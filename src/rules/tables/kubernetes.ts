import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'
import { ENCRYPTION } from './classes.ts'

/** The volume's storage encrypts it; only storage class parameters can switch that off. */
const encryption = `
https://kubernetes.io/docs/concepts/storage/storage-classes/#aws-ebs
kubernetes_storage_class,kubernetes_storage_class_v1 parameters.encrypted false
`

export const kubernetesTables: Rule[] = tableRules('kubernetes', { ...ENCRYPTION, byDefault: undefined }, encryption)
