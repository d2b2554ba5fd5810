import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'
import { ENCRYPTION } from './classes.ts'

/** Azure always encrypts storage at rest; the switch of a managed disk controls additional Azure Disk Encryption. */
const encryption = `
https://learn.microsoft.com/azure/azure-sql/database/transparent-data-encryption-tde-overview
azurerm_mssql_database transparent_data_encryption_enabled false
https://learn.microsoft.com/azure/synapse-analytics/sql-data-warehouse/sql-data-warehouse-encryption-tde
azurerm_synapse_sql_pool data_encrypted false|unset
https://learn.microsoft.com/azure/virtual-machines/disk-encryption-overview
azurerm_managed_disk encryption_settings.enabled false
https://learn.microsoft.com/azure/data-lake-store/data-lake-store-encryption
azurerm_data_lake_store encryption_state DISABLED
https://learn.microsoft.com/azure/automation/shared-resources/variables
azurerm_automation_variable_string encrypted false|unset
`

export const azureTables: Rule[] = [...tableRules('azure', ENCRYPTION, encryption)]
