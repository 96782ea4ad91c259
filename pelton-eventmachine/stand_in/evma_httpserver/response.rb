# frozen_string_literal: true

require "pelton/eventmachine"
require "pelton/eventmachine/http_server"
