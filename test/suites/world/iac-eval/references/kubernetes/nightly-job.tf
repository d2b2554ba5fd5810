resource "kubernetes_cron_job_v1" "cleanup" {
  metadata {
    name = "cleanup"
  }

  spec {
    schedule                      = "0 2 * * *"
    concurrency_policy            = "Forbid"
    successful_jobs_history_limit = 3

    job_template {
      metadata {}

      spec {
        template {
          metadata {}

          spec {
            restart_policy = "OnFailure"

            container {
              name    = "cleanup"
              image   = "busybox:1.37"
              command = ["sh", "-c", "date"]
            }
          }
        }
      }
    }
  }
}
