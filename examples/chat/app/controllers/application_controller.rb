# frozen_string_literal: true

class ApplicationController < Pelton::Web::Controller
  include CurrentUser
end
