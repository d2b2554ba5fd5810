/** The names of the rules in `src/rules` by `<cloud>.<family>`, listed here so that boot need not load the rules. */
const NAMES = `
  aws.compute: public-function-url
  aws.database: public-brokers public-instance public-search-domain
  aws.encryption: disabled missing
  aws.iam: access-key admin-attachment admin-policy broad-attachment not-action open-trust-policy
    public-lambda-permission public-resource-policy service-wildcard
  aws.network: open-admin-port open-all-ports open-database-port open-other-port public-cluster-endpoint
  aws.stateful: backups-off no-final-snapshot
  aws.storage: force-destroy public-access-allowed public-access-block-removed public-bucket-acl
    public-bucket-policy public-snapshot
  azure.database: azure-services-allowed open-account open-firewall public-network
  azure.encryption: disabled missing
  azure.iam: broad-contributor broad-owner narrow-owner wildcard-role wildcard-role-with-exceptions
  azure.network: open-admin-port open-all-ports open-database-port open-other-port open-service-firewall
    public-cluster-endpoint
  azure.storage: anonymous-registry public-blobs-allowed public-container
  common.scope: outside-targets
  common.secrets: known-token literal-argument literal-environment module-input plain-environment provider-argument
    url-password variable-default
  common.stateful: access-removed data-destroyed data-replaced protection-removed
  gcp.database: open-authorized-network public-address public-dataset
  gcp.encryption: plain-cluster-secrets
  gcp.iam: default-account-full-scope project-editor project-impersonation project-owner public-member
    public-project public-service service-account-key
  gcp.network: open-admin-port open-all-ports open-database-port open-other-port public-cluster-endpoint
    public-machine
  gcp.stateful: backups-off
  gcp.storage: force-destroy public-bucket
  kubernetes.encryption: disabled
  kubernetes.network: ingress-without-tls open-admin-port open-database-port open-load-balancer open-other-port
    open-policy
  kubernetes.pod: host-namespaces host-path powerful-capability privileged sensitive-host-path
  kubernetes.rbac: all-secrets anonymous-subject cluster-admin escalation namespace-admin whole-cluster-subject
    wildcard-cluster-role wildcard-role
  oci.database: open-access-list
  oci.iam: any-user long-lived-key manage-all-in-compartment manage-all-in-tenancy
  oci.network: open-admin-port open-all-ports open-database-port open-other-port public-cluster-endpoint
  oci.storage: broad-preauthenticated-request public-bucket
`

/** The ids of the rules, `<cloud>.<family>.<name>`. A test compares them with the rules. */
export const RULE_IDS: readonly string[] = [...NAMES.matchAll(/(\S+):([^:]*)(?=\s\S+:|$)/g)].flatMap(
  ([, family, names = '']) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${family}.${name}`),
)
