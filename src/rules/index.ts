import { awsExposureRules, awsNetworkRules } from './aws/exposure.ts'
import { awsPermissionRules } from './aws/permissions.ts'
import { awsPublicPolicyRules } from './aws/public-policies.ts'
import { azureExposureRules, azureNetworkRules } from './azure/exposure.ts'
import { azurePermissionRules } from './azure/permissions.ts'
import { changeRules } from './common/change-rules.ts'
import { secretRules } from './common/secrets.ts'
import { planSecretRules } from './common/secrets-of-plan.ts'
import { awsEncryptionRules, azureEncryptionRules, kubernetesEncryptionRules } from './encryption-switches.ts'
import { gcpExposureRules, gcpNetworkRules } from './gcp/exposure.ts'
import { gcpPermissionRules } from './gcp/permissions.ts'
import { kubernetesNetworkRules } from './kubernetes/network.ts'
import { kubernetesPermissionRules } from './kubernetes/permissions.ts'
import { kubernetesPodRules } from './kubernetes/pods.ts'
import { ociNetworkRules, ociRules } from './oci/rules.ts'
import type { Rule } from './rule.ts'

/** All rules, sorted by id. */
export const RULES: readonly Rule[] = [
  ...changeRules,
  ...secretRules,
  ...planSecretRules,
  ...awsNetworkRules,
  ...awsExposureRules,
  ...awsPublicPolicyRules,
  ...awsPermissionRules,
  ...awsEncryptionRules,
  ...azureNetworkRules,
  ...azureExposureRules,
  ...azurePermissionRules,
  ...azureEncryptionRules,
  ...gcpNetworkRules,
  ...gcpExposureRules,
  ...gcpPermissionRules,
  ...ociNetworkRules,
  ...ociRules,
  ...kubernetesNetworkRules,
  ...kubernetesPodRules,
  ...kubernetesPermissionRules,
  ...kubernetesEncryptionRules,
].toSorted((a, b) => (a.id < b.id ? -1 : 1))
