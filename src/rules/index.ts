import { awsExposureRules } from './aws/exposure.ts'
import { awsNetworkRules } from './aws/network.ts'
import { awsPermissionRules } from './aws/permissions.ts'
import { awsPublicPolicyRules } from './aws/public-policies.ts'
import { azureExposureRules } from './azure/exposure.ts'
import { azureNetworkRules } from './azure/network.ts'
import { azurePermissionRules } from './azure/permissions.ts'
import { changeRules } from './common/changes.ts'
import { secretRules } from './common/secrets.ts'
import { planSecretRules } from './common/secrets-of-plan.ts'
import { awsEncryptionRules, azureEncryptionRules, kubernetesEncryptionRules } from './encryption-switches.ts'
import { gcpExposureRules } from './gcp/exposure.ts'
import { gcpNetworkRules } from './gcp/network.ts'
import { gcpPermissionRules } from './gcp/permissions.ts'
import { kubernetesNetworkRules } from './kubernetes/network.ts'
import { kubernetesPermissionRules } from './kubernetes/permissions.ts'
import { kubernetesPodRules } from './kubernetes/pods.ts'
import { ociNetworkRules } from './oci/network.ts'
import { ociRules } from './oci/rules.ts'
import type { Rule } from './types.ts'

/** All rules, in the order of their ids. */
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
