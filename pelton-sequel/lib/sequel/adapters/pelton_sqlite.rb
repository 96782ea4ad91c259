# frozen_string_literal: true

require "pelton/database/sqlite"
