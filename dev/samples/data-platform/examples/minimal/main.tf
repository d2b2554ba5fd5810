module "dataset" {
  source = "../../modules/dataset"

  name = "example"
}
