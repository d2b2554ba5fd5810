import type { Rule } from '../rule.ts'
import { type FaultClass, tableRules } from '../table.ts'

const DOCS = 'https://docs.oracle.com/en-us/iaas/Content'

/** Oracle always encrypts volumes; the way between host and volume is plain unless the code asks otherwise. */
const VOLUME_TRAFFIC: FaultClass = {
  name: 'transit.plain-volume',
  title: 'Traffic between a machine and its volumes without encryption',
  reason: 'The data passes the network of the provider in clear text.',
  fix: 'Set is_pv_encryption_in_transit_enabled to true.',
  severity: 'info',
  told: 'once',
  says: 'leaves traffic between machine and volume plain',
}
const volumeTraffic = `
${DOCS}/Block/Concepts/blockvolumeencryption.htm
oci_core_instance launch_options.is_pv_encryption_in_transit_enabled false|unset if !is_pv_encryption_in_transit_enabled
oci_containerengine_node_pool node_config_details.is_pv_encryption_in_transit_enabled false|unset
`

const METADATA: FaultClass = {
  name: 'compute.old-metadata',
  title: 'First version of the metadata service',
  reason: 'A flaw in any program of the machine that fetches addresses gives away what the machine may do.',
  fix: 'Set are_legacy_imds_endpoints_disabled to true.',
  severity: 'warning',
  says: 'admits requests without a header',
}
const metadata = `
${DOCS}/Compute/Tasks/gettingmetadata.htm
oci_core_instance instance_options.are_legacy_imds_endpoints_disabled false|unset
`

export const ociTables: Rule[] = [
  ...tableRules('oci', VOLUME_TRAFFIC, volumeTraffic),
  ...tableRules('oci', METADATA, metadata),
]
