# frozen_string_literal: true

module Admin
  # For administrators alone. For all others these pages do not exist.
  class BaseController < ApplicationController
    before_action :require_sign_in
    before_action { raise Pelton::Web::NotFound unless current_user.admin? }
  end
end
