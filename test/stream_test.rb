# frozen_string_literal: true

require_relative "test_helper"
require_relative "shared/stream_suite"

PeltonTest.in_styles("Stream", StreamSuite::STYLES, StreamSuite)
