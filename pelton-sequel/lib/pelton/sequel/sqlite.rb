# frozen_string_literal: true

require "pelton/sequel"
require "sequel/adapters/shared/sqlite"
require_relative "sqlite/connection"
require_relative "sqlite/checkpoints"
require_relative "sqlite/types"
require_relative "sqlite/database"
require_relative "sqlite/dataset"
require_relative "sqlite/lookup"
