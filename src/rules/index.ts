import { awsExposureRules } from './aws/exposure.ts'
import { awsPermissionRules } from './aws/permissions.ts'
import { azureExposureRules } from './azure/exposure.ts'
import { azurePermissionRules } from './azure/permissions.ts'
import { changeRules } from './common/change-rules.ts'
import { secretRules } from './common/secrets.ts'
import { encryptionRules } from './encryption.ts'
import { gcpExposureRules } from './gcp/exposure.ts'
import { gcpPermissionRules } from './gcp/permissions.ts'
import { kubernetesNetworkRules } from './kubernetes/network.ts'
import { kubernetesPermissionRules } from './kubernetes/permissions.ts'
import { kubernetesPodRules } from './kubernetes/pods.ts'
import { ociRules } from './oci/rules.ts'
import type { Rule } from './rule.ts'

/** All rules, sorted by id. */
export const RULES: readonly Rule[] = [
  ...changeRules,
  ...secretRules,
  ...encryptionRules,
  ...awsExposureRules,
  ...awsPermissionRules,
  ...azureExposureRules,
  ...azurePermissionRules,
  ...gcpExposureRules,
  ...gcpPermissionRules,
  ...ociRules,
  ...kubernetesNetworkRules,
  ...kubernetesPodRules,
  ...kubernetesPermissionRules,
].toSorted((a, b) => (a.id < b.id ? -1 : 1))
