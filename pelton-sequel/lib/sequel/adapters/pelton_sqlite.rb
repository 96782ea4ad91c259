# frozen_string_literal: true

require "pelton/sequel/sqlite"
