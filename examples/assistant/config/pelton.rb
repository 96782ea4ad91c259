# frozen_string_literal: true

companion "bin/jobs" # the workers start and stop with the server, and have its topics
